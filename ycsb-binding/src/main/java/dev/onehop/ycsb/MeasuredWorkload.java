package dev.onehop.ycsb;

import java.util.Properties;
import org.jspecify.annotations.Nullable;
import site.ycsb.DB;
import site.ycsb.Workload;
import site.ycsb.WorkloadException;

/**
 * A wrapper of another workload that ends by {@link RunLength}. The property {@code
 * onehop.workload} has the class of the other workload; the default is YCSB's {@code CoreWorkload}.
 */
public final class MeasuredWorkload extends Workload {
  static final String WORKLOAD = "onehop.workload";
  private static final String DEFAULT = "site.ycsb.workloads.CoreWorkload";

  private @Nullable Workload measured;
  private @Nullable RunLength length;

  /** Called by YCSB. */
  public MeasuredWorkload() {}

  @Override
  public void init(Properties properties) throws WorkloadException {
    String name = properties.getProperty(WORKLOAD, DEFAULT);
    Workload created;
    try {
      created =
          Class.forName(name).asSubclass(Workload.class).getDeclaredConstructor().newInstance();
    } catch (ReflectiveOperationException | ClassCastException e) {
      throw new WorkloadException("cannot use the workload class " + name, e);
    }
    created.init(properties);
    measured = created;
    length = RunLength.of(properties);
  }

  @Override
  public Object initThread(Properties properties, int number, int threads)
      throws WorkloadException {
    return measured().initThread(properties, number, threads);
  }

  @Override
  public void cleanup() throws WorkloadException {
    measured().cleanup();
  }

  @Override
  public boolean doInsert(DB db, Object thread) {
    return measured().doInsert(db, thread);
  }

  @Override
  public boolean doTransaction(DB db, Object thread) {
    RunLength limit = length;
    if (limit == null) {
      throw new IllegalStateException("init() was not called");
    }
    if (limit.isOver()) {
      return false;
    }
    boolean more = measured().doTransaction(db, thread);
    limit.operation();
    return more;
  }

  private Workload measured() {
    Workload other = measured;
    if (other == null) {
      throw new IllegalStateException("init() was not called");
    }
    return other;
  }
}
