package dev.onehop.ycsb;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import site.ycsb.Utils;

/**
 * The keys that YCSB's {@code CoreWorkload} loads. Collections are split between these keys. A key
 * is {@code user} and the record's number, padded with zeros to {@code zeropadding} digits. The
 * number is hashed, unless {@code insertorder=ordered} is set. Numbers start at {@code insertstart}
 * and end before {@code recordcount}.
 *
 * <p>Immutable and thread-safe.
 */
public final class KeyPopulation {

  private final long start;
  private final int count;
  private final boolean ordered;
  private final int zeroPadding;

  /**
   * The population of a workload's properties.
   *
   * @throws IllegalArgumentException if a property is not a number, or there are no records
   */
  public static KeyPopulation of(Map<String, String> workload) {
    long start = insertStart(workload);
    long end = number(workload, "recordcount", 0, Integer.MAX_VALUE);
    if (end <= start) {
      throw new InvalidPropertyException(
          "no records: recordcount " + end + " must be above insertstart " + start);
    }
    return new KeyPopulation(
        start,
        (int) (end - start),
        workload.getOrDefault("insertorder", "hashed").strip().equals("ordered"),
        (int) number(workload, "zeropadding", 1, 64));
  }

  /** The number of the first record. */
  public static long insertStart(Map<String, String> workload) {
    return number(workload, "insertstart", 0, Integer.MAX_VALUE);
  }

  private KeyPopulation(long start, int count, boolean ordered, int zeroPadding) {
    this.start = start;
    this.count = count;
    this.ordered = ordered;
    this.zeroPadding = zeroPadding;
  }

  /** The number of records. */
  public int size() {
    return count;
  }

  /** The key of the i-th loaded record, from 0 on. */
  public String key(int i) {
    long number = start + i;
    String digits = Long.toString(ordered ? number : Utils.hash(number));
    return "user" + "0".repeat(Math.max(0, zeroPadding - digits.length())) + digits;
  }

  /**
   * The keys that split the population into ranges of equal numbers of records, ascending.
   *
   * @param ranges the number of ranges; the result has one key less, or fewer keys if there are too
   *     few records
   */
  public List<String> splitPoints(int ranges) {
    String[] keys = new String[count];
    for (int i = 0; i < count; i++) {
      keys[i] = key(i);
    }
    // Keys are ASCII, so Java sorts them as the server does.
    Arrays.sort(keys);
    List<String> points = new ArrayList<>();
    for (int i = 1; i < ranges; i++) {
      int at = (int) ((long) i * count / ranges);
      if (at > 0 && (points.isEmpty() || !points.get(points.size() - 1).equals(keys[at]))) {
        points.add(keys[at]);
      }
    }
    return points;
  }

  private static long number(Map<String, String> workload, String name, long least, long most) {
    String text = workload.getOrDefault(name, String.valueOf(least)).strip();
    try {
      long value = Long.parseLong(text);
      if (value < least || value > most) {
        throw new InvalidPropertyException(
            name + " is " + text + ", but it must be from " + least + " to " + most);
      }
      return value;
    } catch (NumberFormatException e) {
      throw new InvalidPropertyException(name + " is '" + text + "', which is not a number");
    }
  }
}
