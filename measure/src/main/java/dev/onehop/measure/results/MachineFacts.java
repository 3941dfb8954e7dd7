package dev.onehop.measure.results;

/**
 * The machine and the software of a run.
 *
 * @param cpu the name of the processor
 * @param cores the number of logical processors
 * @param memoryMebibytes the physical memory, in MiB
 * @param os the operating system and its kernel
 * @param java the version and vendor of the JVM
 * @param onehop the version of OneHop
 * @param revision the git revision, with {@code -dirty} at its end if the work tree had changes;
 *     empty if unknown
 * @param mongoDriver the version of MongoDB's Java drivers
 * @param ycsb the version of YCSB
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
