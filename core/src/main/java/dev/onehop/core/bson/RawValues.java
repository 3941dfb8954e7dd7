package dev.onehop.core.bson;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.bson.BsonBinary;
import org.bson.BsonBinaryReader;
import org.bson.BsonBinarySubType;
import org.bson.BsonBinaryWriter;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonInvalidOperationException;
import org.bson.BsonObjectId;
import org.bson.BsonSerializationException;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.bson.BsonValue;
import org.bson.codecs.BsonValueCodec;
import org.bson.codecs.DecoderContext;
import org.bson.codecs.EncoderContext;
import org.bson.io.BasicOutputBuffer;
import org.bson.types.ObjectId;

/** Converts between values in memory and their BSON bytes, with the driver's codec. */
final class RawValues {
  private static final BsonValueCodec CODEC = new BsonValueCodec();
  private static final String NAME = "v";

  private RawValues() {}

  /** A cursor on the only element of a new document with {@code value}. */
  static ElementCursor write(BsonValue value) {
    try (BasicOutputBuffer buffer = new BasicOutputBuffer(128);
        BsonBinaryWriter writer = new BsonBinaryWriter(buffer)) {
      writer.writeStartDocument();
      writer.writeName(NAME);
      CODEC.encode(writer, value, EncoderContext.builder().build());
      writer.writeEndDocument();
      ElementCursor cursor = new ElementCursor(buffer.getInternalBuffer(), 0, buffer.getPosition());
      cursor.next();
      return cursor;
    } catch (BsonSerializationException | BsonInvalidOperationException e) {
      throw new MalformedBsonException("not a value that BSON can hold: " + e.getMessage(), e);
    }
  }

  /** Decodes the cursor's current value. The usual types of keys need no codec of the driver. */
  static BsonValue read(ElementCursor element) {
    byte[] bytes = element.bytes();
    int offset = element.valueOffset();
    return switch (element.type()) {
      case STRING ->
          new BsonString(
              new String(bytes, offset + 4, element.valueLength() - 5, StandardCharsets.UTF_8));
      case INT32 -> new BsonInt32(ByteOrders.getIntLittleEndian(bytes, offset));
      case INT64 -> new BsonInt64(ByteOrders.getLongLittleEndian(bytes, offset));
      case TIMESTAMP -> new BsonTimestamp(ByteOrders.getLongLittleEndian(bytes, offset));
      case OBJECT_ID ->
          new BsonObjectId(new ObjectId(Arrays.copyOfRange(bytes, offset, offset + 12)));
      case BINARY ->
          bytes[offset + 4] == BsonBinarySubType.OLD_BINARY.getValue()
              ? decode(element)
              : new BsonBinary(
                  bytes[offset + 4],
                  Arrays.copyOfRange(bytes, offset + 5, offset + element.valueLength()));
      default -> decode(element);
    };
  }

  private static BsonValue decode(ElementCursor element) {
    int length = element.valueLength();
    ByteSink document = new ByteSink(length + 8);
    document.putIntLittleEndian(length + 8);
    document.put(element.type().getValue());
    document.put(NAME.charAt(0));
    document.put(0);
    document.put(element.bytes(), element.valueOffset(), length);
    document.put(0);
    try (BsonBinaryReader reader = new BsonBinaryReader(ByteBuffer.wrap(document.toByteArray()))) {
      reader.readStartDocument();
      reader.readBsonType();
      reader.skipName();
      return CODEC.decode(reader, DecoderContext.builder().build());
    } catch (BsonSerializationException | BsonInvalidOperationException e) {
      throw new MalformedBsonException("malformed BSON: " + e.getMessage(), e);
    }
  }
}
