package dev.onehop.flink.internal;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;

/** Serializes the state of the enumerator. */
public final class AssignedSplitsSerializer implements SimpleVersionedSerializer<AssignedSplits> {
  private static final int VERSION = 1;
  private static final int USUAL_BYTES = 1_024;

  @Override
  public int getVersion() {
    return VERSION;
  }

  @Override
  public byte[] serialize(AssignedSplits state) throws IOException {
    DataOutputSerializer out = new DataOutputSerializer(USUAL_BYTES);
    write(state.shards(), out);
    write(state.leaving().keySet(), out);
    for (String bound : state.leaving().values()) {
      out.writeUTF(bound);
    }
    String through = state.through();
    out.writeUTF(through == null ? "" : through);
    out.writeInt(state.pending().size());
    for (ShardSplit split : state.pending()) {
      ShardSplitSerializer.write(split, out);
    }
    write(state.running(), out);
    return out.getCopyOfBuffer();
  }

  private static void write(Set<String> names, DataOutputSerializer out) throws IOException {
    out.writeInt(names.size());
    for (String name : names) {
      out.writeUTF(name);
    }
  }

  @Override
  public AssignedSplits deserialize(int version, byte[] bytes) throws IOException {
    ShardSplitSerializer.refuseOther(version, VERSION);
    DataInputDeserializer in = new DataInputDeserializer(bytes);
    List<String> shards = read(in);
    Map<String, String> leaving = new HashMap<>();
    for (String shard : read(in)) {
      leaving.put(shard, in.readUTF());
    }
    String through = in.readUTF();
    List<ShardSplit> pending = new ArrayList<>();
    for (int left = in.readInt(); left > 0; left--) {
      pending.add(ShardSplitSerializer.read(in));
    }
    return new AssignedSplits(
        new HashSet<>(shards),
        leaving,
        through.isEmpty() ? null : through,
        pending,
        new HashSet<>(read(in)));
  }

  private static List<String> read(DataInputDeserializer in) throws IOException {
    List<String> names = new ArrayList<>();
    for (int left = in.readInt(); left > 0; left--) {
      names.add(in.readUTF());
    }
    return names;
  }
}
