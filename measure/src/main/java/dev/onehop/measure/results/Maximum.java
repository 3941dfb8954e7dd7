package dev.onehop.measure.results;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import org.jspecify.annotations.Nullable;

/**
 * The highest rate that a client holds. The rates that were tried are among the entries of {@link
 * ScenarioEntry#FIND_MAX}.
 *
 * @param client the client
 * @param criterion what has to hold, such as {@code p99<20ms}
 * @param rate the highest rate that was seen to hold, in operations per second; null if none did
 * @param fails the lowest rate above it that was seen not to hold, at most 5 % higher; null if all
 *     that were tried held
 */
@JsonInclude(Include.ALWAYS)
public record Maximum(
    Client client, String criterion, @Nullable Double rate, @Nullable Double fails) {}
