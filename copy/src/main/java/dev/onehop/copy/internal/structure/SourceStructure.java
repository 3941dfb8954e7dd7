package dev.onehop.copy.internal.structure;

import dev.onehop.copy.internal.Mapping;
import dev.onehop.copy.internal.cluster.ClusterEnd;
import dev.onehop.copy.internal.structure.CollectionSpec.Kind;
import dev.onehop.copy.progress.CopyException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;

/** Reads the descriptions of the source's collections and views that are copied. */
public final class SourceStructure {
  // System collections that are left out without a note to the user, because only servers write to
  // them.
  private static final Set<String> KNOWN_SYSTEM = Set.of("system.views", "system.profile");

  private final Mapping mapping;
  private final Consumer<String> notes;
  private final StructureReader reader;

  /**
   * @param notes called with a text for each system collection that is not copied, with the reason
   */
  public SourceStructure(ClusterEnd source, Mapping mapping, Consumer<String> notes) {
    this.mapping = mapping;
    this.notes = notes;
    this.reader = new StructureReader(source, mapping::concerns, this::destination);
  }

  /** The databases that may have collections to copy. */
  public Set<String> databases() throws InterruptedException {
    return reader.databases();
  }

  /**
   * The collections to copy, views last. Indexes that a server creates with each collection are
   * left out.
   *
   * @throws CopyException if two collections would get the same name at the destination
   */
  public List<CollectionSpec> read() throws InterruptedException {
    List<CollectionSpec> specs = new ArrayList<>();
    List<CollectionSpec> views = new ArrayList<>();
    Map<String, String> taken = new HashMap<>();
    for (CollectionSpec spec : reader.read()) {
      (spec.kind() == Kind.VIEW ? views : specs)
          .add(
              spec.withIndexes(
                  spec.indexes().stream().filter(SourceStructure::isToBeCreated).toList()));
      String other = taken.put(spec.destination(), spec.namespace());
      if (other != null) {
        throw new CopyException(
            "%s and %s both become %s".formatted(other, spec.namespace(), spec.destination()),
            null);
      }
    }
    specs.addAll(views);
    return specs;
  }

  private @Nullable String destination(String namespace) {
    String name = CollectionSpec.nameOf(namespace);
    if (!name.startsWith("system.")) {
      return mapping.destination(namespace);
    }
    // Buckets are copied with their time series.
    if (!name.startsWith("system.buckets.") && !KNOWN_SYSTEM.contains(name)) {
      notes.accept(namespace + " is not copied, because no change stream has its changes");
    }
    return null;
  }

  private static boolean isToBeCreated(BsonDocument index) {
    return !index.getString("name").getValue().equals("_id_")
        && !index.getBoolean("clustered", BsonBoolean.FALSE).getValue();
  }
}
