package dev.onehop.auth;

import org.bson.BsonDocument;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;

/** SASL messages that are BSON documents. */
final class Payloads {
  private Payloads() {}

  static byte[] bytes(BsonDocument document) {
    java.nio.ByteBuffer encoded =
        new RawBsonDocument(document, new BsonDocumentCodec()).getByteBuffer().asNIO();
    byte[] bytes = new byte[encoded.remaining()];
    encoded.get(bytes);
    return bytes;
  }

  static BsonDocument document(byte[] bytes) {
    return new RawBsonDocument(bytes);
  }
}
