package dev.onehop.measure.propagate;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.Arrays;
import org.bson.BsonTimestamp;

/**
 * What a process that writes and one that listens say to each other, over two connections. The
 * writer begins each with a greeting. Over that of the clock it sends a number, and the listener
 * answers with its time, again and again. Over that of the events it says which events it wants;
 * the listener answers that the streams are open, and then sends each item that is seen.
 */
final class PeerProtocol {

  static final String CLOCK = "onehop-propagate 1 clock";
  static final String EVENTS = "onehop-propagate 1 events";

  static final int OPENED = 0;
  static final int ITEM = 1;
  static final int FAILED = 2;

  private PeerProtocol() {}

  /** Which events are wanted. The listener has a URL of its own: there is no password in it. */
  record Wanted(
      String database,
      String collection,
      int run,
      BsonTimestamp start,
      long awaitMillis,
      boolean total) {

    void write(DataOutputStream out) throws IOException {
      out.writeUTF(database);
      out.writeUTF(collection);
      out.writeInt(run);
      out.writeLong(start.getValue());
      out.writeLong(awaitMillis);
      out.writeBoolean(total);
    }

    static Wanted read(DataInputStream in) throws IOException {
      return new Wanted(
          in.readUTF(),
          in.readUTF(),
          in.readInt(),
          new BsonTimestamp(in.readLong()),
          in.readLong(),
          in.readBoolean());
    }
  }

  /** An item that was seen, by the listener's clock. */
  record Seen(StreamPath path, Item item, long micros) {

    void write(DataOutputStream out) throws IOException {
      out.writeByte(path.number());
      out.writeInt(item.run());
      out.writeInt(item.group());
      out.writeLong(item.number());
      out.writeInt(item.version());
      out.writeLong(item.dueMicros());
      out.writeLong(item.beganMicros());
      out.writeLong(micros);
    }

    static Seen read(DataInputStream in) throws IOException {
      int number = in.readUnsignedByte();
      StreamPath path =
          Arrays.stream(StreamPath.values())
              .filter(each -> each.number() == number)
              .findFirst()
              .orElseThrow(() -> new IOException("unknown path " + number));
      return new Seen(
          path,
          new Item(
              in.readInt(),
              in.readInt(),
              in.readLong(),
              in.readInt(),
              in.readLong(),
              in.readLong()),
          in.readLong());
    }
  }
}
