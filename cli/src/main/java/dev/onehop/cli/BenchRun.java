package dev.onehop.cli;

import dev.onehop.cli.bench.BenchPlan;
import java.io.PrintWriter;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** TODO. */
record BenchRun(
    ServerOptions servers, BenchPlan plan, @Nullable Path out, String command, PrintWriter stdout) {
  int run() {
    return 0;
  }
}
