package dev.onehop.copy;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import dev.onehop.copy.internal.Mapping;
import dev.onehop.copy.progress.CopyOperation;
import dev.onehop.copy.progress.CopyPhase;
import java.time.Duration;
import java.util.Set;
import java.util.function.Consumer;

/** What {@link ClusterCopy.Builder} has collected. */
record CopySettings(
    String from,
    String to,
    Consumer<MongoClientSettings.Builder> fromSettings,
    Consumer<MongoClientSettings.Builder> toSettings,
    String job,
    ClusterCopy.Begin begin,
    Set<CopyPhase> phases,
    Mapping mapping,
    Set<CopyOperation> operations,
    int readersPerShard,
    int batchSize,
    long rangeBytes,
    double documentsPerSecond,
    double bytesPerSecond,
    Duration lease) {
  CopySettings {
    phases = Set.copyOf(phases);
    operations = Set.copyOf(operations);
    var unusedFrom = new ConnectionString(from);
    var unusedTo = new ConnectionString(to);
  }
}
