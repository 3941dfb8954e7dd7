package dev.onehop.flink.internal;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;

/** Serializes splits. */
public final class ShardSplitSerializer implements SimpleVersionedSerializer<ShardSplit> {
  private static final int VERSION = 1;
  private static final int USUAL_BYTES = 256;

  @Override
  public int getVersion() {
    return VERSION;
  }

  @Override
  public byte[] serialize(ShardSplit split) throws IOException {
    DataOutputSerializer out = new DataOutputSerializer(USUAL_BYTES);
    write(split, out);
    return out.getCopyOfBuffer();
  }

  @Override
  public ShardSplit deserialize(int version, byte[] bytes) throws IOException {
    refuseOther(version, VERSION);
    return read(new DataInputDeserializer(bytes));
  }

  static void refuseOther(int version, int known) throws IOException {
    if (version != known) {
      throw new IOException(
          "the state has version " + version + "; this release reads version " + known);
    }
  }

  static void write(ShardSplit split, DataOutput out) throws IOException {
    out.writeUTF(split.shard());
    out.writeInt(split.part());
    out.writeInt(split.parts());
    // A token contains the document's key, which may be longer than the limit of writeUTF.
    byte[] after = split.after().getBytes(java.nio.charset.StandardCharsets.US_ASCII);
    out.writeInt(after.length);
    out.write(after);
  }

  static ShardSplit read(DataInput in) throws IOException {
    String shard = in.readUTF();
    int part = in.readInt();
    int parts = in.readInt();
    byte[] after = new byte[in.readInt()];
    in.readFully(after);
    return new ShardSplit(
        shard, part, parts, new String(after, java.nio.charset.StandardCharsets.US_ASCII));
  }
}
