package dev.onehop.testbed.topology;

/**
 * A machine of a topology.
 *
 * @param name unique within the topology
 * @param region name of the region it stands in
 * @param address its own address, {@code 127.x.y.z} for processes of this machine, else whatever
 *     address or name it has there; also what makes "on the same host" visible to anyone who
 *     compares addresses
 */
public record Host(String name, String region, String address) {
  @Override
  public String toString() {
    return name;
  }
}
