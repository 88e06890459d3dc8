#include "volvelle/nn/causal_self_attention.h"

#include <string>
#include <utility>

#include "attention/turned_heads.h"
#include "nn/enter_positions.h"
#include "nn/parameter.h"
#include "nn/placed_tokens.h"
#include "volvelle/attention/attend_variable.h"
#include "volvelle/base/error.h"
#include "volvelle/nn/linear.h"
#include "volvelle/nn/positions/catalog.h"

namespace volvelle {
namespace {

constexpr const char* kModule = "causal self-attention";

const CausalSelfAttentionOptions& checked(const CausalSelfAttentionOptions& options) {
  check_size(kModule, "width", options.width);
  check_size(kModule, "heads", options.heads);
  if (options.width % options.heads == 0) return options;
  throw InvalidArgument("[" + std::string(kModule) + "] width=" + std::to_string(options.width) +
                        " is not a multiple of heads=" + std::to_string(options.heads) +
                        "; choose another number of heads");
}

// Third `part` of (B,T,3C), copied as (B,H,T,D).
Tensor heads_of(const Tensor& qkv, int part, std::int64_t heads) {
  const bool batched = qkv.rank() == 3;
  const std::int64_t batch = batched ? qkv.shape()[0] : 1;
  const std::int64_t tokens = qkv.shape()[qkv.rank() - 2], row = qkv.shape()[qkv.rank() - 1];
  const std::int64_t width = row / 3, head = width / heads;
  const auto* from = static_cast<const std::byte*>(qkv.raw()) +
                     static_cast<std::size_t>(part * width) * size_of(qkv.dtype());
  return copy_of(
      View(from, qkv.dtype(), {batch, heads, tokens, head}, {tokens * row, head, row, 1}));
}

}  // namespace

struct CausalSelfAttention::Parts {
  explicit Parts(const CausalSelfAttentionOptions& given)
      : options(checked(given)),
        qkv(given.width, 3 * given.width, Bias::without, given.dtype),
        out(given.width, given.width, Bias::without, given.dtype),
        positions(make_positions(given.positions, {.width = given.width,
                                                   .heads = given.heads,
                                                   .causal = given.causal,
                                                   .dtype = given.dtype})) {
    check_enters_attention(kModule, *positions);
  }

  CausalSelfAttentionOptions options;
  Linear qkv, out;
  std::shared_ptr<PositionScheme> positions;
};

CausalSelfAttention::CausalSelfAttention(const CausalSelfAttentionOptions& options)
    : parts_(std::make_unique<Parts>(options)) {
  add_module("qkv", parts_->qkv);
  add_module("out", parts_->out);
  add_module("positions", *parts_->positions);
}

CausalSelfAttention::~CausalSelfAttention() = default;

const CausalSelfAttentionOptions& CausalSelfAttention::options() const noexcept {
  return parts_->options;
}

Variable CausalSelfAttention::forward(const Variable& x, const ForwardOptions& how,
                                      HeadsOfTokens* heads) const {
  const Parts& parts = *parts_;
  const CausalSelfAttentionOptions& options = parts.options;
  if (!x || x.rank() < 2 || x.rank() > 3) {
    throw InvalidArgument("[" + std::string(kModule) + "] x " +
                          (x ? to_string(x.shape()) : std::string("(absent)")) +
                          " must be (B,T,C) or (T,C)");
  }
  if (how.cache != nullptr) {
    throw Unsupported("[" + std::string(kModule) +
                      "] a ModelCache is for the attentions of a LanguageModel; run this layer "
                      "without it");
  }
  PlacedTokens tokens(how.tokens, x.rank() == 3 ? x.shape()[0] : 1, x.shape()[x.rank() - 2]);
  AttendVariableOptions attention{.heads = options.heads, .threads = how.threads};
  attention.rules.causal = options.causal;
  tokens.exclude(attention.rules);
  enter_positions(kModule, *parts.positions, tokens, attention);
  const Variable qkv = parts.qkv.forward(x, how, {.dtype = between_products(options.dtype, how)});
  const Variable read = attend_packed(qkv, attention);
  if (heads != nullptr) {
    const Tensor of_qkv = qkv.value();
    *heads = {heads_of(of_qkv, 0, options.heads), heads_of(of_qkv, 1, options.heads),
              heads_of(of_qkv, 2, options.heads)};
    const RotaryTables& tables = attention.rotary;
    const auto turn = [&](Tensor& part, const Tensor& cosines, const Tensor& sines) {
      part = turned_heads(part.view(), cosines, sines, tables.pairing, tokens.positions(),
                          how.threads);
    };
    if (tables.cosines) {
      turn(heads->q, tables.cosines, tables.sines);
      turn(heads->k, tables.key_cosines ? tables.key_cosines : tables.cosines,
           tables.key_sines ? tables.key_sines : tables.sines);
    }
  }
  return parts.out.forward(read, how, {.dtype = options.dtype});
}

void CausalSelfAttention::initialize(Initializer& initializer) {
  parts_->qkv.initialize(initializer);
  parts_->out.initialize(initializer);
  parts_->positions->initialize(initializer);
}

}  // namespace volvelle
