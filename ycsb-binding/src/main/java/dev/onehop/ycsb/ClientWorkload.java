package dev.onehop.ycsb;

import java.util.Properties;
import site.ycsb.Client;
import site.ycsb.WorkloadException;
import site.ycsb.workloads.CoreWorkload;

/**
 * YCSB's workload for one of several clients. All read and update all records that were loaded; a
 * record that a client inserts has a number that no other client's has, so that inserts don't
 * collide, and each client finds its own.
 */
public final class ClientWorkload extends CoreWorkload {
  private long loaded;
  private int index;
  private int of = 1;

  /** Called by YCSB. */
  public ClientWorkload() {}

  @Override
  public void init(Properties properties) throws WorkloadException {
    super.init(properties);
    loaded = Long.parseLong(properties.getProperty(Client.RECORD_COUNT_PROPERTY, "0").strip());
    ClientShare share;
    try {
      share = ClientShare.of(properties);
    } catch (InvalidPropertyException e) {
      throw new WorkloadException(e);
    }
    if (share != null) {
      index = share.index();
      of = share.of();
    }
  }

  /** Numbers from the record count on are of new records: client i of N takes every Nth. */
  @Override
  protected String buildKeyName(long number) {
    return super.buildKeyName(number < loaded ? number : loaded + (number - loaded) * of + index);
  }
}
