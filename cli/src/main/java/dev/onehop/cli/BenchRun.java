package dev.onehop.cli;

import dev.onehop.cli.bench.BenchPlan;
import dev.onehop.cli.bench.Workload;
import java.io.PrintWriter;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** TODO. */
record BenchRun(
    ServerOptions servers,
    BenchPlan plan,
    Workload workload,
    @Nullable Path out,
    String command,
    PrintWriter stdout) {
  int run() {
    return 0;
  }
}
