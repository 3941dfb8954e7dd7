package dev.onehop.cli;

import dev.onehop.resync.Failure;
import java.time.Duration;
import java.util.List;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** The range of an option's whole numbers. */
record OptionRange(String option, int least, int most) {

  /**
   * Checks a value. Null means that the option is missing, and is always accepted.
   *
   * @throws Failure if the value is out of range
   */
  void check(@Nullable Integer value) {
    Refuse.when(
        value != null && (value < least || value > most),
        option + " " + value + ": must be from " + least + " to " + most);
  }

  /**
   * Checks each value of a list. Null means that the option is missing, and is always accepted.
   *
   * @throws Failure if a value is out of range
   */
  void check(@Nullable List<Integer> values) {
    if (values != null) {
      values.forEach(value -> check(value));
    }
  }

  /** The value of an option, or the default. The value is checked first. */
  int value(@Nullable Integer given, int usual) {
    int value = given == null ? usual : given;
    check(value);
    return value;
  }

  /**
   * The values of an option, sorted and without duplicates, or the default. Each value is checked
   * first.
   */
  List<Integer> values(@Nullable List<Integer> given, List<Integer> usual) {
    List<Integer> values = given == null ? usual : List.copyOf(new TreeSet<>(given));
    check(values);
    return values;
  }

  /**
   * Checks the time of an option. At most an hour is allowed.
   *
   * @param least the least time: zero, or one second
   * @throws Failure if the time is out of range
   */
  static Duration upToAnHour(String option, Duration time, Duration least) {
    Refuse.when(
        time.compareTo(least) < 0 || time.compareTo(Duration.ofHours(1)) > 0,
        option + " must be " + (least.isZero() ? "at most 1h" : "from 1s to 1h"));
    return time;
  }
}
