#include "complexity.h"

#include <cmath>

namespace benchmark {
namespace internal {
namespace {

typedef BenchmarkReporter::Run Run;

struct Curve {
  BigO complexity;
  BigOFunc* function;
};

struct Fit {
  BigO complexity;
  double coefficient;
  double rms;  // relative to the mean time
};

// The order matters: of equally good fits the first wins.
const Curve kCurves[] = {
    {o1, [](ComplexityN) { return 1.0; }},
    {oLogN, [](ComplexityN n) { return std::log2(static_cast<double>(n)); }},
    {oN, [](ComplexityN n) { return static_cast<double>(n); }},
    {oNLogN, [](ComplexityN n) { return static_cast<double>(n) * std::log2(static_cast<double>(n)); }},
    {oNSquared, [](ComplexityN n) { return std::pow(n, 2); }},
    {oNCubed, [](ComplexityN n) { return std::pow(n, 3); }},
};

// Least squares of `time = coefficient * curve(n)`.
Fit fit_curve(const Curve& curve, const std::vector<ComplexityN>& n, const std::vector<double>& time) {
  double curve_squares = 0, products = 0, sum = 0;
  for (size_t i = 0; i < n.size(); ++i) {
    const double value = curve.function(n[i]);
    curve_squares += value * value;
    products += value * time[i];
    sum += time[i];
  }
  const double coefficient = products / curve_squares;
  double squares = 0;
  for (size_t i = 0; i < n.size(); ++i) squares += std::pow(time[i] - coefficient * curve.function(n[i]), 2);
  const double count = static_cast<double>(n.size());
  return {curve.complexity, coefficient, std::sqrt(squares / count) / (sum / count)};
}

Fit fit_best(BigO complexity, BigOFunc* function, const std::vector<ComplexityN>& n, const std::vector<double>& time) {
  if (complexity == oLambda) return fit_curve({oLambda, function}, n, time);
  Fit best = fit_curve(kCurves[0], n, time);
  for (const Curve& curve : kCurves) {
    const Fit fit = fit_curve(curve, n, time);
    if (curve.complexity == complexity) return fit;
    if (fit.rms < best.rms) best = fit;
  }
  return best;
}

Run result_like(const Run& model, const char* name, StatisticUnit unit) {
  Run run;
  run.run_name = model.run_name;
  run.run_name.args.clear();
  run.family_index = model.family_index;
  run.per_family_instance_index = model.per_family_instance_index;
  run.run_type = Run::RT_Aggregate;
  run.aggregate_name = name;
  run.aggregate_unit = unit;
  run.repetitions = model.repetitions;
  run.repetition_index = Run::no_repetition_index;
  run.threads = model.threads;
  run.report_label = model.report_label;
  run.iterations = 0;
  return run;
}

}  // namespace

std::string big_o_string(BigO complexity) {
  switch (complexity) {
    case o1: return "(1)";
    case oN: return "N";
    case oNSquared: return "N^2";
    case oNCubed: return "N^3";
    case oLogN: return "lgN";
    case oNLogN: return "NlgN";
    default: return "f(N)";
  }
}

std::vector<Run> fit_complexity(const std::vector<Run>& rows) {
  if (rows.size() < 2) return {};
  std::vector<ComplexityN> n;
  std::vector<double> real, cpu;
  for (const Run& row : rows) {
    n.push_back(row.complexity_n);
    real.push_back(row.real_accumulated_time / static_cast<double>(row.iterations));
    cpu.push_back(row.cpu_accumulated_time / static_cast<double>(row.iterations));
  }

  // The clock that the row is measured by chooses the curve, and the other one is fitted to the same curve.
  const Run& model = rows.front();
  const bool real_chooses = model.use_real_time_for_initial_big_o;
  const Fit chosen = fit_best(model.complexity, model.complexity_lambda, n, real_chooses ? real : cpu);
  const Fit other = fit_best(chosen.complexity, model.complexity_lambda, n, real_chooses ? cpu : real);

  Run big_o = result_like(model, "BigO", kTime);
  big_o.report_big_o = true;
  big_o.complexity = chosen.complexity;
  big_o.real_accumulated_time = (real_chooses ? chosen : other).coefficient;
  big_o.cpu_accumulated_time = (real_chooses ? other : chosen).coefficient;
  big_o.time_unit = kNanosecond;

  // Reporters multiply by the unit, which a relative error has not.
  Run rms = result_like(model, "RMS", kPercentage);
  const double unit = GetTimeUnitMultiplier(model.time_unit);
  rms.report_rms = true;
  rms.complexity = chosen.complexity;
  rms.real_accumulated_time = (real_chooses ? chosen : other).rms / unit;
  rms.cpu_accumulated_time = (real_chooses ? other : chosen).rms / unit;
  rms.time_unit = model.time_unit;
  return {big_o, rms};
}

}  // namespace internal
}  // namespace benchmark
