package dev.onehop.testbed.internal.docker;

import com.github.dockerjava.api.DockerClient;
import com.github.dockerjava.api.exception.DockerException;
import com.github.dockerjava.api.model.Network.Ipam;
import dev.onehop.testbed.TestbedException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.testcontainers.containers.Network;

/**
 * A separate network for every host of a topology. The address of a network's gateway is the host's
 * address. This address belongs to this machine. A link can therefore listen on it, and every
 * container of every network can reach it.
 */
public final class Subnets implements AutoCloseable {
  /**
   * Turns masquerading off. Masquerading would replace a caller's address, which identifies the
   * caller's host.
   */
  private static final Map<String, String> NO_MASQUERADE =
      Map.of("com.docker.network.bridge.enable_ip_masquerade", "false");

  private static final int FIRST_CONTAINER = 10;
  private static final int ATTEMPTS = 5;

  private final String prefix;
  private final int first;
  private final List<Network> networks = new ArrayList<>();

  private Subnets(String prefix, int first) {
    this.prefix = prefix;
    this.first = first;
  }

  /**
   * Creates the networks in a range of addresses that the engine reports as free.
   *
   * @throws TestbedException if there is no such range
   */
  public static Subnets create(DockerClient docker, int count) {
    for (int attempt = 1; ; attempt++) {
      String range = freeRange(docker);
      Subnets subnets = in(range, count);
      try {
        for (int i = 0; i < count; i++) {
          subnets.open(i);
        }
        return subnets;
      } catch (DockerException e) {
        subnets.close();
        // An overlap means that another program has taken the range in the meantime.
        if (attempt == ATTEMPTS || !String.valueOf(e.getMessage()).contains("overlap")) {
          throw new TestbedException("Docker cannot create a network: " + Engine.reason(e), e);
        }
      }
    }
  }

  /** Returns the range that the engine gives to the next network. */
  private static String freeRange(DockerClient docker) {
    try (Network network = Network.newNetwork()) {
      return docker
          .inspectNetworkCmd()
          .withNetworkId(network.getId())
          .exec()
          .getIpam()
          .getConfig()
          .get(0)
          .getSubnet();
    } catch (DockerException e) {
      throw new TestbedException(
          "Docker cannot create a network: "
              + Engine.reason(e)
              + " (docker network prune may help)",
          e);
    }
  }

  /** Divides a range such as {@code 172.20.0.0/16} into subnets of 256 addresses. */
  static Subnets in(String range, int count) {
    String[] parts = range.split("[./]", -1);
    int bits = Integer.parseInt(parts[4]);
    int first = Integer.parseInt(parts[2]);
    int room = bits > 24 ? 0 : bits <= 16 ? 256 - first : 1 << (24 - bits);
    if (count > room) {
      throw new TestbedException(
          ("Docker's networks, such as %s, are too small for %d hosts; set the size in"
                  + " default-address-pools of Docker's daemon.json to 20 or less (a smaller"
                  + " number is a larger network)")
              .formatted(range, count));
    }
    return new Subnets(parts[0] + "." + parts[1] + ".", first);
  }

  private void open(int index) {
    Network network =
        Network.builder()
            .createNetworkCmdModifier(
                cmd ->
                    cmd.withOptions(NO_MASQUERADE)
                        .withIpam(
                            new Ipam()
                                .withConfig(
                                    new Ipam.Config()
                                        .withSubnet(base(index) + "0/24")
                                        .withGateway(gateway(index)))))
            .build();
    networks.add(network);
    String unused = network.getId(); // this call creates the network
  }

  private String base(int index) {
    return prefix + (first + index) + ".";
  }

  /** The address of this machine in a subnet. */
  public String gateway(int index) {
    return base(index) + "1";
  }

  /** The address of a container in a subnet. */
  public String container(int index, int number) {
    return base(index) + (FIRST_CONTAINER + number);
  }

  /** A subnet's network. */
  public Network network(int index) {
    return networks.get(index);
  }

  @Override
  public void close() {
    networks.forEach(Network::close);
    networks.clear();
  }
}
