package dev.onehop.jmh.check;

/**
 * How fast a benchmark must be beside its baseline.
 *
 * @param name what is held to it
 * @param benchmark what must be fast
 * @param baseline what it is compared with, in the same run
 * @param atLeast the least ratio of their speeds that is good enough, above 0
 * @param rounds how often both are run before the ratio is judged
 */
record Bar(String name, Side benchmark, Side baseline, double atLeast, int rounds) {}
