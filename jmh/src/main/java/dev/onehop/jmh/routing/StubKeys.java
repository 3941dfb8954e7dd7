package dev.onehop.jmh.routing;

/** Returns keys of the chunks of {@link StubMetadata}, one chunk after the other. */
final class StubKeys {
  private final String[] keys = new String[StubMetadata.CHUNKS];
  private int next;

  StubKeys() {
    for (int i = 0; i < keys.length; i++) {
      keys[i] = StubMetadata.key(i) + "x";
    }
  }

  String next() {
    next = next + 1 == keys.length ? 0 : next + 1;
    return keys[next];
  }
}
