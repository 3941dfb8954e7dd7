package dev.onehop.core.bson;

/**
 * The first byte of an encoded value: the server's canonical type classes, in the server's order.
 * No class is 0x00, because this byte ends an object or array. No class is 0xFF, because this is
 * 0x00 with all bits flipped, as in descending fields.
 */
final class TypeClass {
  static final int END = 0x00;
  static final int MIN_KEY = 0x08;
  static final int UNDEFINED = 0x10;
  static final int NULL = 0x18;
  static final int NUMBER = 0x20;
  static final int STRING = 0x28;
  static final int OBJECT = 0x30;
  static final int ARRAY = 0x38;
  static final int BINARY = 0x40;
  static final int OBJECT_ID = 0x48;
  static final int BOOLEAN = 0x50;
  static final int DATE = 0x58;
  static final int TIMESTAMP = 0x60;
  static final int REGEX = 0x68;
  static final int DB_POINTER = 0x70;
  static final int CODE = 0x78;
  static final int CODE_WITH_SCOPE = 0x80;
  static final int MAX_KEY = 0xE0;

  private TypeClass() {}
}
