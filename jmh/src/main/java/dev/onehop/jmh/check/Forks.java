package dev.onehop.jmh.check;

import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.runner.WorkloadParams;

/**
 * Changes the number of forks in JMH's parameters of a benchmark. JMH has no setter for this
 * number.
 */
final class Forks {

  private Forks() {}

  static BenchmarkParams of(BenchmarkParams params, int forks) {
    WorkloadParams workload = new WorkloadParams();
    int order = 0;
    for (String key : params.getParamsKeys()) {
      workload.put(key, params.getParam(key), order++);
    }
    return new BenchmarkParams(
        params.getBenchmark(),
        params.generatedBenchmark(),
        params.shouldSynchIterations(),
        params.getThreads(),
        params.getThreadGroups(),
        params.getThreadGroupLabels(),
        forks,
        params.getWarmupForks(),
        params.getWarmup(),
        params.getMeasurement(),
        params.getMode(),
        workload,
        params.getTimeUnit(),
        params.getOpsPerInvocation(),
        params.getJvm(),
        params.getJvmArgs(),
        params.getJdkVersion(),
        params.getVmName(),
        params.getVmVersion(),
        params.getJmhVersion(),
        params.getTimeout());
  }
}
