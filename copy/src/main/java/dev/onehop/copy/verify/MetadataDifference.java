package dev.onehop.copy.verify;

/**
 * A difference of collections, options, indexes or shard keys.
 *
 * @param namespace {@code database.collection} at the source; at the destination if only the
 *     destination has it
 * @param what the difference in words, without values
 */
public record MetadataDifference(String namespace, String what) {}
