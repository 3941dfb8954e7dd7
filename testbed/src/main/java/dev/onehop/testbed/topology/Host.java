package dev.onehop.testbed.topology;

/**
 * A machine of a topology.
 *
 * @param name unique within the topology
 * @param region name of its region
 * @param address the host's own address: {@code 127.x.y.z} for processes of this machine, or an
 *     address or name in another network. Programs compare these addresses to detect servers on the
 *     same host
 */
public record Host(String name, String region, String address) {
  @Override
  public String toString() {
    return name;
  }
}
