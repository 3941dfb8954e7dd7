package dev.onehop.measure.copybench;

/**
 * What a worker used since it was last asked.
 *
 * @param cpuNanos processor time
 * @param memoryBytes the most memory since it was started
 */
record WorkerUse(long cpuNanos, long memoryBytes) {}
