package dev.onehop.testbed.topology;

/** An ordered pair of regions: the origin of a connection and its destination. */
record RegionPair(String from, String to) {
  RegionPair reversed() {
    return new RegionPair(to, from);
  }
}
