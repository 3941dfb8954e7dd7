package dev.onehop.testbed;

/**
 * A machine of a topology.
 *
 * @param name unique within the topology
 * @param region name of the region it stands in
 * @param address its own loopback address, {@code 127.x.y.z}; also what makes "on the same host"
 *     visible to anyone who compares addresses
 */
public record Host(String name, String region, String address) {
  @Override
  public String toString() {
    return name;
  }
}
