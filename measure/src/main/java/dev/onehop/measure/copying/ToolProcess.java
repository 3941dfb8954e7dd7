package dev.onehop.measure.copying;

import java.util.List;
import org.bson.BsonTimestamp;

/** A tool in a process of its own, so that its processor time and memory are its own. */
interface ToolProcess extends AutoCloseable {
  /** What the process has used so far. */
  ToolUse use();

  @Override
  void close();

  /** A tool that copies. */
  interface Copier extends ToolProcess {
    /** Readies the tool and the destination for a full copy. */
    void prepare() throws InterruptedException;

    /**
     * Copies the documents of all collections. After that, the tool can follow.
     *
     * @param collections all there are
     */
    void full(List<String> collections) throws InterruptedException;

    /**
     * Begins to apply changes.
     *
     * @param since the cluster time up to which the destination has everything; for tools that keep
     *     no place themselves
     */
    void follow(BsonTimestamp since) throws InterruptedException;

    /**
     * Waits until the changes of the source are applied.
     *
     * @param changes how many there are since {@link #follow}
     */
    void await(long changes) throws InterruptedException;

    /** Ends following. */
    void unfollow() throws InterruptedException;
  }

  /** A tool that compares. */
  interface Verifier extends ToolProcess {
    /**
     * Compares the source with what OneHop has copied.
     *
     * @param collections all there are
     * @throws dev.onehop.resync.Failure if they differ
     */
    void verify(List<String> collections) throws InterruptedException;
  }
}
