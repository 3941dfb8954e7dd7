package dev.onehop.ycsb;

import java.util.Properties;
import site.ycsb.Client;
import site.ycsb.WorkloadException;
import site.ycsb.workloads.CoreWorkload;

/**
 * YCSB's workload for one of several clients. All clients read and update all loaded records. The
 * numbers of inserted records differ between clients, so that inserts do not collide and each
 * client finds its own records.
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

  /**
   * Maps the numbers of new records, which begin at the record count. Client i of N gets each Nth
   * number, from the i-th on: with 100 records, client 1 of 3 gets 101, 104, 107.
   */
  @Override
  protected String buildKeyName(long number) {
    return super.buildKeyName(number < loaded ? number : loaded + (number - loaded) * of + index);
  }
}
