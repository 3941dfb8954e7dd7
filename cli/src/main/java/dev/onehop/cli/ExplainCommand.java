package dev.onehop.cli;

import picocli.CommandLine.Command;

/** TODO. */
@Command(name = "explain")
final class ExplainCommand implements Runnable {
  @Override
  public void run() {}
}
