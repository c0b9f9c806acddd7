#include <fmt/format.h>
#include <fmt/ostream.h>

#include <new>
#include <ostream>

#include "app/commands.hpp"
#include "app/text.hpp"
#include "base/error.hpp"
#include "base/output_file.hpp"
#include "record/format.hpp"

namespace clatter::app {

int guarded(const Console& console, const std::function<int()>& command) {
  try {
    return command();
  } catch (const InputError& error) {
    for (const Diagnostic& d : error.diagnostics()) fmt::print(console.err, "error: {}\n", format(d));
    return kBadInput;
  } catch (const SolveError& error) {
    fmt::print(console.err, "error: {}\n", error.what());
    return kSolveFailed;
  } catch (const OutputError& error) {
    fmt::print(console.err, "error: {}\n", error.what());
    return kSolveFailed;
  } catch (const record::DiskError& error) {
    fmt::print(console.err, "error: {}\n", error.what());
    return kSolveFailed;
  } catch (const record::ResultError& error) {
    // A run reports trouble with its own result itself; here a result could not be read.
    fmt::print(console.err, "error: {}\n", error.what());
    return kBadInput;
  } catch (const std::bad_alloc&) {
    fmt::print(console.err, "error: out of memory. What was recorded so far is in the result file.\n");
    return kSolveFailed;
  } catch (const std::exception& error) {
    fmt::print(console.err, "error: {}\n(this is a defect in Clatter; please report it with the model)\n",
               error.what());
    return kSolveFailed;
  } catch (...) {
    fmt::print(console.err, "error: unknown (this is a defect in Clatter; please report it with the model)\n");
    return kSolveFailed;
  }
}

}  // namespace clatter::app
