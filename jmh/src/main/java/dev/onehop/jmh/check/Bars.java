package dev.onehop.jmh.check;

import dev.onehop.jmh.check.Side.Iterations;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.runner.BenchmarkList;
import org.openjdk.jmh.runner.BenchmarkListEntry;
import org.openjdk.jmh.runner.format.OutputFormatFactory;
import org.openjdk.jmh.runner.options.VerboseMode;

/** Finds the {@link Bar}s of benchmarks. */
final class Bars {
  private Bars() {}

  /** The bars of all benchmarks on the class path, sorted by class and method. */
  static List<Comparison> all() {
    return BenchmarkList.defaultList()
        .getAll(OutputFormatFactory.createFormatInstance(System.err, VerboseMode.SILENT), List.of())
        .stream()
        .map(BenchmarkListEntry::getUserClassQName)
        .distinct()
        .flatMap(name -> of(load(name)).stream())
        .toList();
  }

  private static Class<?> load(String name) {
    try {
      return Class.forName(name, false, Bars.class.getClassLoader());
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * The bars of a class, sorted by method.
   *
   * @throws BarsException if a bar names a benchmark that does not exist in the class
   */
  static List<Comparison> of(Class<?> type) {
    List<Comparison> bars = new ArrayList<>();
    Method[] methods = type.getDeclaredMethods();
    Arrays.sort(methods, Comparator.comparing(Method::getName));
    for (Method method : methods) {
      for (Bar bar : method.getAnnotationsByType(Bar.class)) {
        bars.add(comparison(method, bar));
      }
    }
    return bars;
  }

  private static Comparison comparison(Method method, Bar bar) {
    Class<?> type = method.getDeclaringClass();
    String baseline = bar.baseline().isEmpty() ? method.getName() : bar.baseline();
    if (Arrays.stream(type.getDeclaredMethods())
        .noneMatch(m -> m.getName().equals(baseline) && m.isAnnotationPresent(Benchmark.class))) {
      throw new BarsException(
          "bar \"%s\" names %s, which is not a benchmark"
              .formatted(bar.name(), Side.name(type, baseline)));
    }
    Map<String, String> parameters = new HashMap<>(values(bar.parameters()));
    Side benchmark = side(type, method.getName(), parameters, bar);
    parameters.putAll(values(bar.baselineParameters()));
    return new Comparison(
        bar.name(),
        benchmark,
        side(type, baseline, parameters, bar),
        bar.atLeast(),
        bar.moreBytes() == Bar.ANY ? null : bar.moreBytes(),
        bar.rounds());
  }

  private static Map<String, String> values(String[] parameters) {
    Map<String, String> values = new HashMap<>();
    for (String parameter : parameters) {
      String[] nameAndValue = parameter.split("=", 2);
      values.put(nameAndValue[0], nameAndValue[1]);
    }
    return values;
  }

  private static Side side(Class<?> type, String method, Map<String, String> parameters, Bar bar) {
    return new Side(
        Side.name(type, method),
        parameters,
        iterations(
            bar.warmup().iterations(), bar.warmup().timeUnit().toMillis(bar.warmup().time())),
        iterations(
            bar.measurement().iterations(),
            bar.measurement().timeUnit().toMillis(bar.measurement().time())));
  }

  private static Iterations iterations(int iterations, long milliseconds) {
    return new Iterations(iterations, Math.toIntExact(milliseconds));
  }
}
