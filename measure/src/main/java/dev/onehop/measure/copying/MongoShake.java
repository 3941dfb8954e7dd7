package dev.onehop.measure.copying;

import java.nio.file.Path;
import java.util.List;
import org.bson.BsonTimestamp;

/**
 * MongoShake. It accepts no commands and copies as soon as its process runs. A pause ends the
 * process. A new process continues from the checkpoint.
 */
final class MongoShake extends RivalTool {
  MongoShake(Program program, CopyEnd source, CopyEnd destination) {
    super(program, source, destination);
  }

  @Override
  void launch() {}

  @Override
  void begin() throws InterruptedException {
    String configuration =
        """
        conf.version = 10
        id = onehop
        sync_mode = all
        mongo_urls = %s
        tunnel = direct
        tunnel.address = %s
        filter.namespace.white = %s;%s
        full_sync.http_port = %d
        log.dir = %s
        """
            .formatted(
                source().url(),
                destination().url(),
                Workload.DATABASE,
                Workload.SIGNALS,
                program().port(),
                program().folder());
    Path file = program().write("collector.conf", configuration);
    program().start(List.of("-conf=" + file, "-verbose=2"), () -> true);
  }

  @Override
  boolean hasCopied() {
    return destination().documents(Workload.DATABASE) >= source().documents(Workload.DATABASE);
  }

  @Override
  boolean pause() throws InterruptedException {
    program().stop();
    return true;
  }

  @Override
  public void follow(BsonTimestamp since) throws InterruptedException {
    begin();
  }

  @Override
  String stateDatabase() {
    return "mongoshake";
  }
}
