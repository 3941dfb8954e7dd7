package dev.onehop.resync;

import java.util.Collection;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Finds the values of options by their names. */
public final class Names {

  private Names() {}

  /**
   * Finds the value with a name.
   *
   * @param all the values that the option takes
   * @param label returns the name of a value
   * @param message the message of the failure; its first {@code %s} stands for all names, its
   *     second for the given name
   * @throws Failure with the exit code of wrong usage, if no value has this name
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
