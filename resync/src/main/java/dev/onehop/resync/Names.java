package dev.onehop.resync;

import java.util.Collection;
import java.util.function.Function;
import java.util.stream.Collectors;

/** The names of values in options. */
public final class Names {

  private Names() {}

  /**
   * Finds the value with a name.
   *
   * @param all the values that the option takes
   * @param label the name of a value
   * @param message of the failure, with {@code %s} for the names and {@code %s} for the name
   * @throws Failure of the command line if there is none
   */
  public static <T> T find(
      String name, Collection<T> all, Function<? super T, String> label, String message) {
    return all.stream()
        .filter(value -> label.apply(value).equals(name))
        .findFirst()
        .orElseThrow(
            () ->
                Failure.usage(
                    message.formatted(
                        all.stream().map(label).collect(Collectors.joining(", ")), name)));
  }
}
