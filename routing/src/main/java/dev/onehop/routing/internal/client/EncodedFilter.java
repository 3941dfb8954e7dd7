package dev.onehop.routing.internal.client;

import org.bson.BsonDocument;
import org.bson.codecs.configuration.CodecRegistry;
import org.bson.conversions.Bson;
import org.jspecify.annotations.Nullable;

/**
 * A filter that is encoded once for both, the routing and the driver. Each subscription encodes it
 * anew, as what it was made of may have changed since.
 */
final class EncodedFilter implements Bson {
  private final Bson original;
  private volatile @Nullable BsonDocument encoded;

  private EncodedFilter(Bson original) {
    this.original = original;
  }

  /** Null stays null, for the official client to refuse; what is encoded already stays as it is. */
  static @Nullable Bson of(@Nullable Bson filter) {
    return filter == null || filter instanceof BsonDocument ? filter : new EncodedFilter(filter);
  }

  /** For the routing: encodes it. */
  <D> BsonDocument encode(Class<D> documentClass, CodecRegistry codecRegistry) {
    BsonDocument now = original.toBsonDocument(documentClass, codecRegistry);
    encoded = now;
    return now;
  }

  /** For the driver, which comes after the routing, on a collection of the same codecs. */
  @Override
  public <D> BsonDocument toBsonDocument(Class<D> documentClass, CodecRegistry codecRegistry) {
    BsonDocument known = encoded;
    return known != null ? known : original.toBsonDocument(documentClass, codecRegistry);
  }

  @Override
  public String toString() {
    return original.toString();
  }
}
