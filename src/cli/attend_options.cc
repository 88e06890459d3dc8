#include "cli/attend_options.h"

namespace volvelle::cli {
namespace {

void require(bool holds, const char* message) {
  if (!holds) throw UsageError(message);
}

}  // namespace

void declare(CommandLine& line, AttendOptions& o) {
  line.group("Input (nothing given: the embedded example of two tokens)");
  line.positional("INPUT", o.input,
                  ".npz, .safetensors or .json with q, k, v and any of: bias, keep, slopes, sinks, "
                  "bias_table, bucket_table, key_lengths, segments (or query_segments and "
                  "key_segments), query_offset, positions (or query_positions and key_positions), "
                  "relative_keys, relative_queries, relative_values, position_table, "
                  "rotary_cosines, rotary_sines, rotary_key_cosines, rotary_key_sines; with "
                  "--backward grad_output");
  line.text("--q", o.q, "FILE|NUMBERS",
            "queries: .npy, .csv, or rows typed here, as in \"1 0; 1 1\"");
  line.text("--k", o.k, "FILE|NUMBERS", "keys, with --q and --v");
  line.text("--v", o.v, "FILE|NUMBERS", "values, with --q and --k");
  line.text("--x", o.x, "FILE|NUMBERS",
            "tokens (T,C) or (B,T,C), instead: q = x wq, k = x wk, v = x wv");
  line.text("--wq", o.wq, "FILE|NUMBERS", "weights (C, heads * D) of the queries");
  line.text("--wk", o.wk, "FILE|NUMBERS", "weights (C, key heads * D) of the keys");
  line.text("--wv", o.wv, "FILE|NUMBERS", "weights (C, key heads * E) of the values");
  line.integer("--heads", o.heads, "H", "how many heads wq makes (1)");
  line.integer("--key-heads", o.key_heads, "G", "how many heads wk and wv make (as --heads)");
  line.choice("--layout", o.layout, {"bhtd", "bthd", "bt3hd"},
              "order of the axes (bhtd); leading ones may be missing. bt3hd: one array 'qkv'. "
              "The output comes in the same order");
  line.choice("--dtype", o.dtype, {"float32", "float64", "float16", "bfloat16"},
              "convert q, k, v to it; numbers read as text are float32 otherwise");

  line.group("Who sees whom (all of these intersect)");
  line.flag("--causal", o.causal, "a query sees no later key");
  line.choice("--align", o.align, {"bottom-right", "top-left"},
              "where query 0 stands when T and S differ: so that the last query faces the last "
              "key (bottom-right, the default), or the first the first");
  line.text("--query-offset", o.query_offset, "N[,N..]",
            "position of query 0 instead, for all rows or for each batch row");
  line.integer("--window", o.window, "N", "a query sees the N keys up to its own position");
  line.integer("--window-right", o.window_right, "N",
               "a query sees the N keys from its own position on");
  line.integer("--prefix", o.prefix, "N", "the first N keys are seen by all, despite --causal");
  line.integer("--chunk", o.chunk, "N", "a query sees the keys of its own block of N positions");
  line.text("--key-lengths", o.key_lengths, "N[,N..]", "real keys of each batch row");
  line.choice("--padding", o.padding, {"left", "right"}, "where the other keys lie (right)");
  line.text("--segments", o.segments, "FILE|NUMBERS",
            "(B,S) whole numbers: equal ones see each other");
  line.text("--keep", o.keep, "FILE|NUMBERS",
            "a mask that broadcasts to (B,H,T,S): 1 or true is seen, 0 or false is not");

  line.group("Scores and weights");
  line.number("--scale", o.scale, "X", "factor of q.k (1/sqrt(D))");
  line.number("--softcap", o.softcap, "C", "scores become C tanh(score / C)");
  line.text("--bias", o.bias, "FILE|NUMBERS", "added to the scores; broadcasts to (B,H,T,S)");
  line.flag("--alibi", o.alibi,
            "the standard ALiBi slopes: adds -slope * distance (as --scheme alibi does)");
  line.choice("--buckets", o.buckets, {"one-way", "two-way"},
              "how bucket_table sorts offsets (T5; as --scheme \"t5(direction=..)\" does)");
  line.integer("--max-distance", o.max_distance, "N",
               "from here on offsets share the last bucket (128)");
  line.text("--sinks", o.sinks, "FILE|A,B,..",
            "a logit per head that takes weight and has no value");

  line.number("--dropout", o.dropout, "P",
              "each weight is dropped with probability P, the others are divided by 1 - P");
  line.integer("--seed", o.seed, "N", "which ones --dropout drops (0)");

  declare(line, o.positions);

  line.group("Gradients");
  line.flag("--backward", o.backward,
            "gradients of sum(grad_output * output) by q, k, v and by each of bias, slopes, sinks, "
            "bias_table, bucket_table, relative_keys, relative_queries, relative_values that was "
            "given");
  line.text("--grad-output", o.grad_output, "FILE|NUMBERS",
            "what comes back to the output, in its shape; or 'grad_output' in INPUT");

  line.group("How");
  line.choice("--path", o.path, {"auto", "fused", "composed", "oracle"},
              "tiles; matrix by matrix; plain loops in double (auto)");
  line.text("--simd", o.simd, "NAME", "instruction set; `volvelle --version` lists them");
  line.integer("--threads", o.threads, "N", "at most N threads (all CPUs)");

  line.group("Results");
  line.flag("--steps", o.steps, "every step as a table; the default for small problems");
  line.flag("--weights", o.weights, "the weights");
  line.flag("--entropy", o.entropy, "entropy of each row of weights, in nats");
  line.flag("--column-sums", o.column_sums, "how much each key is read");
  line.flag("--explain", o.explain, "only say which path would run and why");
  line.text("--expect", o.expect, "FILE",
            "compare with another program's `output` (and `lse`; with --backward `grad_q` and so "
            "on); exit 3 when they differ, with the known mistake that explains it, if one does");
  line.number("--atol", o.atol, "X", "absolute tolerance of --expect (by dtype and length)");
  line.number("--rtol", o.rtol, "X", "relative tolerance of --expect");
  line.text("--out", o.out, "FILE", "write the arrays to a .npz or .safetensors");
  line.flag("--force", o.force, "--out may overwrite");
  line.flag("--json", o.json, "one JSON document on stdout");
  line.integer("--digits", o.digits, "N", "digits behind the point in tables (4)");
}

void check(const AttendOptions& o) {
  check(o.positions);
  require(!o.alibi || !o.positions.scheme,
          "--alibi and --scheme both choose a scheme; --scheme alibi is --alibi, and --rotary goes "
          "with --alibi");
  require(!o.buckets || !o.positions.scheme,
          "--buckets says what bucket_table is, and so does --scheme t5; leave one out");
  require(
      !o.max_distance || !o.positions.scheme,
      "--max-distance says how bucket_table is read, and so does --scheme \"t5(max=..)\"; leave "
      "one out");
  require(!o.align || !o.query_offset,
          "--align and --query-offset both say where the queries stand; give one");
  require(!o.prefix || o.causal, "--prefix lifts causality only: it needs --causal");
  require(!o.projects() || (o.x && o.wq && o.wk && o.wv), "--x, --wq, --wk and --wv come together");
  require(!o.projects() || (!o.q && !o.k && !o.v),
          "--q, --k, --v and --x with its weights are two ways to give the same; use one");
  require(!o.heads || o.projects(),
          "--heads splits what --x and its weights make; arrays carry their heads as an axis");
  require(!o.key_heads || o.projects(),
          "--key-heads splits what --x and its weights make; arrays carry their heads as an axis");
  require(!o.heads || *o.heads >= 1, "--heads must be at least 1");
  require(!o.key_heads || *o.key_heads >= 1, "--key-heads must be at least 1");
  require(!o.layout || !o.projects(), "--layout is about arrays; --x has no heads to lay out");
  require(!o.seed || o.dropout, "--seed chooses what --dropout drops; give that too");
  require(!o.seed || *o.seed >= 0, "--seed must be 0 or more");
  require(!o.grad_output || o.backward, "--grad-output is what --backward goes by; give that too");
  require(!o.atol || o.expect, "--atol is the tolerance of --expect; give that too");
  require(!o.rtol || o.expect, "--rtol is the tolerance of --expect; give that too");
  require(!o.atol || *o.atol >= 0, "--atol must be 0 or more");
  require(!o.rtol || *o.rtol >= 0, "--rtol must be 0 or more");
  require(!o.force || o.out, "--force is about --out; give that too");
  require(!o.threads || (*o.threads >= 1 && *o.threads <= 1024), "--threads takes 1 to 1024");
  require(!o.digits || (*o.digits >= 0 && *o.digits <= 17), "--digits takes 0 to 17");
  require(
      !o.explain || (!o.steps && !o.weights && !o.entropy && !o.column_sums && !o.expect && !o.out),
      "--explain computes nothing, so there is nothing to show, compare or write with it");
}

}  // namespace volvelle::cli
