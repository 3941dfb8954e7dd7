package dev.onehop.cli;

import dev.onehop.resync.Failure;
import java.util.List;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** The range of an option's whole numbers. */
record OptionRange(String option, int least, int most) {

  /**
   * Checks a value; null, for a missing option, is in every range.
   *
   * @throws Failure if the value is out of range
   */
  void check(@Nullable Integer value) {
    if (value != null && (value < least || value > most)) {
      throw Failure.usage(option + " " + value + ": must be from " + least + " to " + most);
    }
  }

  /**
   * Checks each value of a list; null, for a missing option, is in every range.
   *
   * @throws Failure if a value is out of range
   */
  void check(@Nullable List<Integer> values) {
    if (values != null) {
      values.forEach(value -> check(value));
    }
  }

  /** The value of an option, or the default; checked. */
  int value(@Nullable Integer given, int usual) {
    int value = given == null ? usual : given;
    check(value);
    return value;
  }

  /** The values of an option, sorted and without duplicates, or the default; checked. */
  List<Integer> values(@Nullable List<Integer> given, List<Integer> usual) {
    List<Integer> values = given == null ? usual : List.copyOf(new TreeSet<>(given));
    check(values);
    return values;
  }
}
