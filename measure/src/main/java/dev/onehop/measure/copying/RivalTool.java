package dev.onehop.measure.copying;

import dev.onehop.resync.Failure;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * A copying program that users provide. It runs with the defaults of its documentation. All changes
 * count as applied when the destination has the last signal document and receives no more writes.
 */
abstract class RivalTool implements ToolProcess.Copier, ToolProcess.OfProgram {
  private static final Duration PATIENCE = Duration.ofHours(2);
  private static final Duration PAUSING = Duration.ofSeconds(60);

  /** If a destination receives no writes for this time, it has all changes. */
  private static final Duration QUIET = Duration.ofMillis(1_500);

  /**
   * The largest number of writes that may be heartbeats and checkpoints of an idle program. More
   * writes are changes.
   */
  private static final long OWN_WRITES = 5;

  private final Program program;
  private final CopyEnd source;
  private final CopyEnd destination;

  /** Creates a tool that is not running yet. */
  RivalTool(Program program, CopyEnd source, CopyEnd destination) {
    this.program = program;
    this.source = source;
    this.destination = destination;
  }

  /**
   * Creates a tool without a process.
   *
   * @param tool a tool that users provide
   * @param path the path of the tool's program
   * @param folder the folder for its configuration and log
   */
  static ToolProcess of(
      CopyTool tool, Path path, CopyEnd source, CopyEnd destination, Path folder) {
    Program program = new Program(tool.label(), path, folder);
    return switch (tool) {
      case PCSM, MONGOSYNC -> new HttpRival(tool, program, source, destination);
      case MONGOSHAKE -> new MongoShake(program, source, destination);
      case MIGRATION_VERIFIER -> new MigrationVerifier(program, source, destination);
      case DRIVER, ONEHOP -> throw new IllegalArgumentException(tool.label());
    };
  }

  /**
   * Starts the process. If a program copies as soon as it runs, {@link #begin} starts it instead.
   */
  abstract void launch() throws InterruptedException;

  /** Makes the process copy all documents and then apply changes. */
  abstract void begin() throws InterruptedException;

  /**
   * Whether all documents are copied.
   *
   * @throws Failure if the program reports a failure
   */
  abstract boolean hasCopied();

  /**
   * Stops applying changes until {@link #follow}. Returns false if the program refuses to pause at
   * present.
   */
  abstract boolean pause() throws InterruptedException;

  /** The name of the database with the program's state, at the source or the destination. */
  abstract String stateDatabase();

  @Override
  public Program program() {
    return program;
  }

  CopyEnd source() {
    return source;
  }

  CopyEnd destination() {
    return destination;
  }

  @Override
  public void prepare() throws InterruptedException {
    program.stop();
    List.of(Workload.DATABASE, Workload.SIGNALS, stateDatabase()).forEach(destination::drop);
    source.drop(stateDatabase());
    launch();
  }

  @Override
  public void full(List<String> collections) throws InterruptedException {
    begin();
    program.await("copy all documents", PATIENCE, this::hasCopied);
    unfollow();
  }

  @Override
  public void await(long changes) throws InterruptedException {
    long signal = source.signal();
    program.await("apply the last change", PATIENCE, () -> destination.hasSignal(signal));
    long[] last = {destination.written(), System.nanoTime()};
    program.await(
        "become idle",
        PATIENCE,
        () -> {
          long now = destination.written();
          if (now - last[0] > OWN_WRITES) {
            last[0] = now;
            last[1] = System.nanoTime();
          }
          return System.nanoTime() - last[1] > QUIET.toNanos();
        });
  }

  @Override
  public void unfollow() throws InterruptedException {
    long begun = System.nanoTime();
    while (!pause()) {
      if (System.nanoTime() - begun > PAUSING.toNanos()) {
        throw Failure.run(program.name() + " cannot be paused");
      }
      Thread.sleep(100);
    }
  }
}
