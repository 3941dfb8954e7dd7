package dev.onehop.measure.copying;

import dev.onehop.measure.frame.ProcessUse;
import java.util.List;
import org.bson.BsonTimestamp;

/**
 * A tool in a separate process. The process makes it possible to measure the tool's processor time
 * and memory.
 */
interface ToolProcess extends AutoCloseable {
  /** The resource use of the process so far. */
  ProcessUse use();

  @Override
  void close();

  /** A tool whose process is a program that users provide. */
  interface OfProgram extends ToolProcess {
    Program program();

    @Override
    default ProcessUse use() {
      return program().use();
    }

    @Override
    default void close() {
      program().close();
    }
  }

  /** A tool that copies. */
  interface Copier extends ToolProcess {
    /** Prepares the tool and the destination for a full copy. */
    void prepare() throws InterruptedException;

    /**
     * Copies the documents of all collections. After this, {@link #follow} can be called.
     *
     * @param collections all collections
     */
    void full(List<String> collections) throws InterruptedException;

    /**
     * Starts to apply changes.
     *
     * @param since the cluster time up to which the destination is complete; only tools without a
     *     checkpoint use it
     */
    void follow(BsonTimestamp since) throws InterruptedException;

    /**
     * Waits until the changes of the source are applied.
     *
     * @param changes the number of changes since {@link #follow}
     */
    void await(long changes) throws InterruptedException;

    /** Stops applying changes. */
    void unfollow() throws InterruptedException;
  }

  /** A tool that compares. */
  interface Verifier extends ToolProcess {
    /**
     * Compares the source with OneHop's copy.
     *
     * @param collections all collections
     * @throws dev.onehop.resync.Failure if source and copy differ
     */
    void verify(List<String> collections) throws InterruptedException;
  }
}
