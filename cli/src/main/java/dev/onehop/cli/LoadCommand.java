package dev.onehop.cli;

import dev.onehop.measure.points.Workload;
import picocli.CommandLine.Mixin;

/** A measuring command with options for its clients and their workload. */
abstract class LoadCommand extends MeasuringCommand {

  @Mixin LoadOptions load = new LoadOptions();

  @Override
  Workload workload() {
    return load.workload(UserTable.RECORDS);
  }
}
