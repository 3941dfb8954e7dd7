package dev.onehop.testbed.topology;

/**
 * A machine of a topology.
 *
 * @param name unique within the topology
 * @param region name of its region
 * @param address its own address: {@code 127.x.y.z} for processes of this machine, else an address
 *     or name there. Programs that compare addresses detect servers on the same host by it
 */
public record Host(String name, String region, String address) {
  @Override
  public String toString() {
    return name;
  }
}
