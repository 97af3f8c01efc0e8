/* An example of a plugin in C: attention in fp32 as the formula says it, three loops.
 *
 *   cc -O2 -shared -fPIC -I include plugins/example/attention.c -o attention.so -lm
 *   flashbench --device cpu --plugin attention.so --impl v2,example-c --seq 256
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "flashbench/attention.h"

static FlashbenchStatus say(FlashbenchMessage* message, FlashbenchStatus status, const char* why) {
  snprintf(message->text, sizeof message->text, "%s", why);
  return status;
}

static FlashbenchStatus supports(const FlashbenchProblem* problem, const FlashbenchDevice* device,
                                 FlashbenchMessage* message) {
  if (device->backend != FLASHBENCH_CPU || problem->dtype != FLASHBENCH_FP32)
    return say(message, FLASHBENCH_UNSUPPORTED, "the example does fp32 on the CPU");
  return FLASHBENCH_OK;
}

/* The keys that query i sees are 0 ... visible - 1. */
static int64_t visible(const FlashbenchProblem* p, int64_t i) {
  if (p->mask == FLASHBENCH_FULL) return p->seq_k;
  const int64_t keys = i + 1 + p->seq_k - p->seq_q;
  return keys < 0 ? 0 : keys;
}

/* What the loops really do: masked keys are skipped one by one. A row of scores is the workspace.
 */
static FlashbenchStatus cost(const FlashbenchProblem* p, const FlashbenchDevice* device,
                             uint32_t passes, FlashbenchCost* cost, FlashbenchMessage* message) {
  (void)device, (void)passes, (void)message;
  double pairs = 0;
  for (int64_t i = 0; i < p->seq_q; ++i) pairs += (double)visible(p, i);
  pairs *= (double)(p->batch * p->query_heads);
  const double queries = 4.0 * (double)(p->batch * p->query_heads * p->seq_q * p->head_dim);
  const double keys = 4.0 * (double)(p->batch * p->kv_heads * p->seq_k * p->head_dim);
  *cost = (FlashbenchCost){
      .kernel_count = 1, .workspace_bytes = 4 * p->seq_k, .saves = FLASHBENCH_SAVES_LSE};
  FlashbenchKernelCost* kernel = &cost->kernels[0];
  kernel->kernel = "attend";
  kernel->pipe = FLASHBENCH_PIPE_SGEMM;
  kernel->flops = 4 * pairs * (double)p->head_dim;
  kernel->exponentials = pairs;
  kernel->traffic.read[FLASHBENCH_Q] = queries;
  kernel->traffic.read[FLASHBENCH_K] = kernel->traffic.read[FLASHBENCH_V] = keys;
  kernel->traffic.written[FLASHBENCH_O] = queries;
  kernel->traffic.written[FLASHBENCH_STATISTICS] =
      4.0 * (double)(p->batch * p->query_heads * p->seq_q);
  return FLASHBENCH_OK;
}

typedef struct Attention {
  FlashbenchProblem problem;
  float* scores; /* (Sk): the workspace */
} Attention;

static FlashbenchStatus create(const FlashbenchProblem* problem, const FlashbenchDevice* device,
                               void* workspace, FlashbenchInstance* instance,
                               FlashbenchMessage* message) {
  (void)device;
  Attention* attention = malloc(sizeof *attention);
  if (!attention) return say(message, FLASHBENCH_OUT_OF_MEMORY, "no memory for the instance");
  *attention = (Attention){*problem, workspace};
  instance->state = attention;
  instance->launch_count = 0;
  return FLASHBENCH_OK;
}

/* One row of O from one row of Q and the keys it sees; returns its LSE. */
static float attend(const FlashbenchProblem* p, const float* q, const float* k, int64_t k_seq,
                    const float* v, int64_t v_seq, int64_t keys, float* scores, float* o) {
  float m = -INFINITY;
  for (int64_t j = 0; j < keys; ++j) {
    float dot = 0;
    for (int64_t x = 0; x < p->head_dim; ++x) dot += q[x] * k[j * k_seq + x];
    scores[j] = (float)p->scale * dot;
    m = fmaxf(m, scores[j]);
  }
  float l = 0;
  for (int64_t x = 0; x < p->head_dim; ++x) o[x] = 0;
  for (int64_t j = 0; j < keys; ++j) {
    const float weight = expf(scores[j] - m);
    l += weight;
    for (int64_t x = 0; x < p->head_dim; ++x) o[x] += weight * v[j * v_seq + x];
  }
  if (keys == 0) return -INFINITY;
  for (int64_t x = 0; x < p->head_dim; ++x) o[x] /= l;
  return m + logf(l);
}

static FlashbenchStatus forward(void* state, const FlashbenchForward* args, void* stream,
                                FlashbenchMessage* message) {
  (void)stream, (void)message;
  const Attention* attention = state;
  const FlashbenchProblem* p = &attention->problem;
  for (int64_t b = 0; b < p->batch; ++b)
    for (int64_t h = 0; h < p->query_heads; ++h) {
      const int64_t kv = h * p->kv_heads / p->query_heads;
      const float* k = (const float*)args->k.data + b * args->k.batch + kv * args->k.head;
      const float* v = (const float*)args->v.data + b * args->v.batch + kv * args->v.head;
      for (int64_t i = 0; i < p->seq_q; ++i) {
        const float* q =
            (const float*)args->q.data + b * args->q.batch + i * args->q.seq + h * args->q.head;
        float* o = (float*)args->o.data + b * args->o.batch + i * args->o.seq + h * args->o.head;
        const float lse =
            attend(p, q, k, args->k.seq, v, args->v.seq, visible(p, i), attention->scores, o);
        args->lse[(b * p->query_heads + h) * p->seq_q + i] = lse;
      }
    }
  return FLASHBENCH_OK;
}

const FlashbenchPlugin* flashbench_plugin(void) {
  static const FlashbenchImplementation implementations[] = {{
      .name = "example-c",
      .idea = "the formula in three loops, as an example of a plugin",
      .section = "",
      .passes = FLASHBENCH_FORWARD,
      .supports = supports,
      .cost = cost,
      .create = create,
      .forward = forward,
      .destroy = free,
  }};
  static const FlashbenchPlugin plugin = {FLASHBENCH_ABI, FLASHBENCH_CPU, 1, implementations};
  return &plugin;
}
