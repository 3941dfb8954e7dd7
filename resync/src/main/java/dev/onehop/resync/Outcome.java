package dev.onehop.resync;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How a member was made.
 *
 * @param host its name and port
 * @param total from the first step to when it had caught up, checks of the conditions excluded
 * @param locked how long the source was locked; null if it was not
 * @param copied from the first file's begin to the last one's end; null if none were copied
 * @param bytes what was moved: of files what was written into the target's folder, of an initial
 *     sync what the server says it has copied
 * @param shared whether the copy shares blocks with the source
 * @param proof what its server's log says of which method has run; empty if it was not found
 * @param process the server that was started; null if others did
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
