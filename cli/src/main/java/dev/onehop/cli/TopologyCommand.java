package dev.onehop.cli;

import picocli.CommandLine.Command;

/** TODO. */
@Command(name = "topology")
final class TopologyCommand implements Runnable {
  @Override
  public void run() {}
}
