package dev.onehop.testbed.topology;

/** An ordered pair of regions: where a connection is opened, and where it leads. */
record RegionPair(String from, String to) {
  RegionPair reversed() {
    return new RegionPair(to, from);
  }
}
