package dev.onehop.measure.copying;

/**
 * What a worker used since it was last asked.
 *
 * @param cpuNanos processor time
 * @param memoryBytes the most memory since it was started
 */
record ToolUse(long cpuNanos, long memoryBytes) {}
