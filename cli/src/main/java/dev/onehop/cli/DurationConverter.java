package dev.onehop.cli;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads durations such as {@code 500ms}, {@code 10s}, {@code 2m}, {@code 1h}. */
final class DurationConverter implements ITypeConverter<Duration> {

  private static final Pattern FORM = Pattern.compile("(\\d{1,9}(?:\\.\\d{1,3})?)(ms|s|m|h)");

  @Override
  public Duration convert(String text) {
    Matcher matcher = FORM.matcher(text.strip());
    if (!matcher.matches()) {
      throw new TypeConversionException(
          "'" + text + "' is not a duration; write 500ms, 10s, 2m or 1h");
    }
    double millis =
        Double.parseDouble(matcher.group(1))
            * switch (matcher.group(2)) {
              case "ms" -> 1;
              case "s" -> 1000;
              case "m" -> 60_000;
              default -> 3_600_000;
            };
    return Duration.ofMillis(Math.round(millis));
  }
}
