#include "plan/loaded.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "plan/dumped.hpp"
#include "record/npy_header.hpp"

namespace flashbench {

namespace {

namespace fs = std::filesystem;

using Shape = std::vector<std::int64_t>;

Shape shape_of(const std::string& dir, const char* tensor) {
  const std::string path = fmt::format("{}/{}.npy", dir, tensor);
  Shape shape;
  try {
    shape = read_npy_header(path).shape;
  } catch (const std::runtime_error& error) {
    throw UsageError(fmt::format("--load: {}", error.what()));
  }
  if (shape.size() != 4)
    throw UsageError(
        fmt::format("--load: {} has {} dimensions; expected 4: (batch, seq, heads, "
                    "head_dim)",
                    path, shape.size()));
  return shape;
}

void must_fit(const std::string& dir, const char* tensor, const Shape& shape, const Shape& right) {
  if (shape == right) return;
  throw UsageError(fmt::format("--load: {}/{}.npy is ({}) where ({}) would fit", dir, tensor,
                               fmt::join(shape, ", "), fmt::join(right, ", ")));
}

// What the user gave for an axis must be what the file says.
void settle(std::vector<std::int64_t>& axis, std::int64_t loaded, const std::string& called) {
  for (const std::int64_t value : axis)
    if (value != loaded && value != automatic)
      throw UsageError(
          fmt::format("{}: {} contradicts --load, whose files say {}", called, value, loaded));
  axis = {loaded};
}

bool has_backward(const Sweep& sweep) {
  return std::ranges::any_of(sweep.pass, [](Pass pass) { return pass != Pass::fwd; });
}

// --dump writes a folder a row, and the one above them is easily meant.
void refuse_the_folder_above(const fs::path& dir) {
  std::error_code error;
  if (fs::exists(dir / "q.npy", error)) return;
  for (const auto& entry : fs::directory_iterator(dir, error))
    if (fs::exists(entry.path() / "q.npy", error))
      throw UsageError(fmt::format("--load: {} has no q.npy; a folder in it has, {}: that is meant",
                                   dir.string(), entry.path().string()));
}

}  // namespace

LoadedFiles read_loaded(const std::string& dir, const std::vector<Sweep>& sweeps) {
  std::error_code error;
  if (!fs::is_directory(dir, error))
    throw UsageError(
        fmt::format("--load: {} is no folder; one with q.npy, k.npy and v.npy is meant", dir));
  refuse_the_folder_above(dir);
  LoadedFiles loaded{dir, shape_of(dir, "q"), shape_of(dir, "k"), shape_of(dir, "v"), {}, {}};
  if (std::ranges::any_of(sweeps, has_backward)) loaded.d_o = shape_of(dir, "do");
  loaded.dumped = read_dumped(dir);
  return loaded;
}

Sweep with_loaded_shapes(Sweep sweep, const LoadedFiles& loaded) {
  const auto& [dir, q, k, v, d_o, dumped] = loaded;
  if (q[0] == 0 || q[2] == 0 || q[3] == 0)
    throw UsageError(fmt::format("--load: {}/q.npy is ({}): only the sequence may be empty", dir,
                                 fmt::join(q, ", ")));
  must_fit(dir, "k", k, {q[0], k[1], k[2], q[3]});
  must_fit(dir, "v", v, k);
  if (k[2] == 0 || q[2] % k[2] != 0)
    throw UsageError(fmt::format(
        "--load: {}/k.npy has {} heads where a divisor of the {} heads of q.npy would fit", dir,
        k[2], q[2]));
  if (has_backward(sweep)) must_fit(dir, "do", d_o, q);
  settle(sweep.batch, q[0], sweep.called("batch"));
  settle(sweep.seq, q[1], sweep.called("seq"));
  settle(sweep.heads, q[2], sweep.called("heads"));
  settle(sweep.head_dim, q[3], sweep.called("head-dim"));
  settle(sweep.seq_k, k[1], sweep.called("seq-k"));
  settle(sweep.kv_heads, k[2], sweep.called("kv-heads"));
  sweep.init = {Init::loaded};
  return sweep;
}

}  // namespace flashbench
