package dev.onehop.copy.verify;

/**
 * A difference that is none of documents.
 *
 * @param namespace of the source, {@code database.collection}; of the destination for what only
 *     that has
 * @param what is different, in words, without values
 */
public record MetadataDifference(String namespace, String what) {}
