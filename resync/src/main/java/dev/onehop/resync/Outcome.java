package dev.onehop.resync;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The result for one new member.
 *
 * @param host the member's name and port
 * @param total the time from the first step until the member had caught up, without the checks
 *     before the first step
 * @param locked the time for which the source was locked; null if it was not locked
 * @param copied the time from the start of the first file to the end of the last file; null if no
 *     files were copied
 * @param bytes the moved data: the bytes written into the target's folder, or the bytes that the
 *     server's initial sync reports as copied
 * @param shared whether the copy shares blocks with the source
 * @param proof the line of the server's log that names the sync method; empty if it was not found
 * @param process the server's process; null if this run did not start it, or if it runs in the
 *     background
 */
public record Outcome(
    String host,
    Duration total,
    @Nullable Duration locked,
    @Nullable Duration copied,
    long bytes,
    boolean shared,
    String proof,
    @Nullable ProcessHandle process) {}
