package dev.onehop.core.bson;

import java.nio.charset.StandardCharsets;
import org.bson.BsonArray;
import org.bson.BsonBinary;
import org.bson.BsonBinarySubType;
import org.bson.BsonBoolean;
import org.bson.BsonDateTime;
import org.bson.BsonDbPointer;
import org.bson.BsonDocument;
import org.bson.BsonJavaScript;
import org.bson.BsonJavaScriptWithScope;
import org.bson.BsonMaxKey;
import org.bson.BsonMinKey;
import org.bson.BsonNull;
import org.bson.BsonObjectId;
import org.bson.BsonRegularExpression;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.bson.BsonUndefined;
import org.bson.BsonValue;
import org.bson.types.ObjectId;

/** Decodes a key into a value that the server considers equal to the original. */
final class KeyDecoder {
  private static final int OBJECT_ID_LENGTH = 12;

  private KeyDecoder() {}

  static BsonValue read(KeyCursor in) {
    return read(in, in.next(), 0);
  }

  private static BsonValue read(KeyCursor in, int typeClass, int depth) {
    return switch (typeClass) {
      case TypeClass.MIN_KEY -> new BsonMinKey();
      case TypeClass.UNDEFINED -> new BsonUndefined();
      case TypeClass.NULL -> BsonNull.VALUE;
      case TypeClass.NUMBER -> SortableNumber.read(in);
      case TypeClass.STRING -> new BsonString(SortableText.read(in));
      case TypeClass.OBJECT -> readObject(in, depth + 1);
      case TypeClass.ARRAY -> readArray(in, depth + 1);
      case TypeClass.BINARY -> readBinary(in);
      case TypeClass.OBJECT_ID -> new BsonObjectId(new ObjectId(in.nextBytes(OBJECT_ID_LENGTH)));
      case TypeClass.BOOLEAN -> BsonBoolean.valueOf(in.next() != 0);
      case TypeClass.DATE -> new BsonDateTime(in.nextLong() ^ Long.MIN_VALUE);
      case TypeClass.TIMESTAMP -> new BsonTimestamp(in.nextLong());
      case TypeClass.REGEX -> new BsonRegularExpression(cString(in), cString(in));
      case TypeClass.DB_POINTER -> readDbPointer(in);
      case TypeClass.CODE -> new BsonJavaScript(SortableText.read(in));
      case TypeClass.CODE_WITH_SCOPE ->
          new BsonJavaScriptWithScope(SortableText.read(in), readObject(in, depth + 1));
      case TypeClass.MAX_KEY -> new BsonMaxKey();
      default -> throw in.malformed("a value of unknown class " + typeClass);
    };
  }

  private static BsonDocument readObject(KeyCursor in, int depth) {
    checkDepth(in, depth);
    BsonDocument document = new BsonDocument();
    for (int typeClass = in.next(); typeClass != TypeClass.END; typeClass = in.next()) {
      document.append(cString(in), read(in, typeClass, depth));
    }
    return document;
  }

  private static BsonArray readArray(KeyCursor in, int depth) {
    checkDepth(in, depth);
    BsonArray array = new BsonArray();
    for (int typeClass = in.next(); typeClass != TypeClass.END; typeClass = in.next()) {
      cString(in);
      array.add(read(in, typeClass, depth));
    }
    return array;
  }

  private static void checkDepth(KeyCursor in, int depth) {
    if (depth > ElementCursor.MAX_DEPTH + 1) {
      throw in.malformed("values nested deeper than " + ElementCursor.MAX_DEPTH);
    }
  }

  private static BsonBinary readBinary(KeyCursor in) {
    int length = in.nextInt();
    byte subtype = (byte) in.next();
    byte[] data = in.nextBytes(length);
    if (subtype == BsonBinarySubType.OLD_BINARY.getValue()) {
      if (length < 4) {
        throw in.malformed("old binary data without its inner length");
      }
      data = java.util.Arrays.copyOfRange(data, 4, length);
    }
    return new BsonBinary(subtype, data);
  }

  private static BsonDbPointer readDbPointer(KeyCursor in) {
    int length = in.nextInt();
    if (length < 1) {
      throw in.malformed("a DBPointer without a namespace");
    }
    String namespace = new String(in.nextBytes(length), 0, length - 1, StandardCharsets.UTF_8);
    return new BsonDbPointer(namespace, new ObjectId(in.nextBytes(OBJECT_ID_LENGTH)));
  }

  private static String cString(KeyCursor in) {
    ByteSink text = new ByteSink(16);
    for (int b = in.next(); b != 0; b = in.next()) {
      text.put(b);
    }
    return new String(text.array(), 0, text.size(), StandardCharsets.UTF_8);
  }
}
