package dev.onehop.measure.results;

/**
 * The machine and the software of a run.
 *
 * @param cpu the processor's name
 * @param cores logical processors
 * @param memoryMebibytes physical memory
 * @param os operating system and kernel
 * @param java version and vendor of the JVM
 * @param onehop OneHop's version
 * @param revision git revision, with {@code -dirty} appended if the work tree had changes; empty if
 *     unknown
 * @param mongoDriver version of MongoDB's Java drivers
 * @param ycsb version of YCSB
 */
public record MachineFacts(
    String cpu,
    int cores,
    long memoryMebibytes,
    String os,
    String java,
    String onehop,
    String revision,
    String mongoDriver,
    String ycsb) {}
