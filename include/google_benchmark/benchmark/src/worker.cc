// Serves deadheat: lists the rows, then races the one that deadheat names. docs/protocol.md describes the messages.
//
// deadheat.h calls a function once for each sample. Here the user's function has the loop, so control is the other way
// round: its loop asks for the next batch (Race), and the request that is being answered (Phase) chooses it. Both share
// deadheat.h's gauge, its messages, its turns and its rules for calibration and warm-up.
#include "race.h"

#include <map>
#include <string>
#include <vector>

#include "worker.h"

namespace benchmark {
namespace internal {

WorkerArguments& worker_arguments() {
  static WorkerArguments arguments;
  return arguments;
}

namespace {

// A benchmark that is served, on a stack of its own offset.
struct Serving {
  Link& link;
  const BenchmarkInstance& instance;
  bool measures_manual_time;

  static void serve(void* closure) {
    const Serving& serving = *static_cast<Serving*>(closure);
    Race(serving.link, serving.instance, serving.restart(), serving.measures_manual_time).run();
  }

  Restart restart() const {
    if (instance.settings().iterations > 0) return Restart::kEachSample;
    const bool is_fresh = link.request().input_per_call || worker_arguments().fresh;
    return is_fresh ? Restart::kEachBlock : Restart::kNever;
  }
};

class Worker {
 public:
  Worker(Link link, const std::vector<BenchmarkInstance>& instances) : link_(link), instances_(instances) {
    std::map<std::string, int> seen;
    for (const BenchmarkInstance& instance : instances) {
      // Google Benchmark lets rows have the same name, deadheat does not.
      std::string name = instance.name().str();
      const int count = ++seen[name];
      names_.push_back(count == 1 ? name : name + " (" + std::to_string(count) + ")");
      measures_manual_time_ |= instance.settings().manual_time;
    }
  }

  void serve() {
    deadheat_hello_(&link_.worker.said, "Google Benchmark's API on deadheat.h " DEADHEAT_VERSION ", " DEADHEAT_COMPILER_,
                    measures_manual_time_ ? kManualTime : nullptr);
    link_.send();
    for (;;) {
      link_.hear();
      if (link_.is("bye")) return;
      if (link_.is("list")) {
        list();
      } else if (link_.is("prepare")) {
        return prepare();
      } else {
        link_.give_up("out_of_turn");
      }
    }
  }

 private:
  void list() {
    link_.say("{\"listed\":{\"benchmarks\":[");
    for (size_t i = 0; i < instances_.size(); ++i) {
      link_.say(i > 0 ? ",{\"name\":" : "{\"name\":").quote(names_[i]);
      link_.say(",\"threads\":").count(static_cast<uint64_t>(instances_[i].threads()));
      if (instances_[i].settings().manual_time) link_.say(",\"judged\":").quote(kManualTime);
      link_.say("}");
    }
    link_.say("]}}").send();
  }

  void prepare() {
    const deadheat_request_& request = link_.request();
    deadheat_hold_heap_(&request);
    deadheat_race_& race = link_.worker.race;
    race.count = 1;
    race.notes = link_.worker.notes;
    race.counted = request.callgrind;
    race.cpu_overhead_ns = request.cpu_overhead_ns >= 0 ? request.cpu_overhead_ns : deadheat_cpu_overhead_();
    deadheat_note_(&race, -1);
    for (size_t i = 0; i < instances_.size(); ++i) {
      if (request.benchmark == nullptr || names_[i] != request.benchmark) continue;
      Serving serving = {link_, instances_[i], measures_manual_time_};
      return deadheat_call_below_(&request, Serving::serve, &serving);
    }
    link_.give_up("unknown");
  }

  Link link_;
  const std::vector<BenchmarkInstance>& instances_;
  std::vector<std::string> names_;
  bool measures_manual_time_ = false;
};

}  // namespace

int run_as_worker(const std::vector<BenchmarkInstance>& instances) {
  static deadheat_worker_ worker;
  if (!deadheat_becomes_worker_(&worker)) return 0;
  Worker(Link(worker), instances).serve();
  return worker.exit_code;
}

}  // namespace internal
}  // namespace benchmark
