package dev.onehop.cli.report;

import java.util.Arrays;
import java.util.List;
import java.util.function.ToDoubleBiFunction;

/**
 * Places things in the plane so that their distances on paper are close to given ones: classical
 * multidimensional scaling (Torgerson 1952), the two leading eigenvectors of the doubly centred
 * matrix of squared distances, found by power iteration.
 */
final class MapLayout {

  private MapLayout() {}

  /**
   * Coordinates, one pair per item, centred on the origin; the first item lies at the left.
   *
   * @param distance a symmetric distance; 0 on the diagonal
   */
  static <T> double[][] place(List<T> items, ToDoubleBiFunction<T, T> distance) {
    int n = items.size();
    double[][] b = new double[n][n];
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < n; j++) {
        double d = i == j ? 0 : distance.applyAsDouble(items.get(i), items.get(j));
        b[i][j] = -d * d / 2;
      }
    }
    centre(b);
    double[][] places = new double[n][2];
    for (int axis = 0; axis < 2; axis++) {
      double[] vector = leading(b);
      double value = value(b, vector);
      for (int i = 0; i < n; i++) {
        places[i][axis] = value <= 0 ? 0 : vector[i] * Math.sqrt(value);
        for (int j = 0; j < n; j++) {
          b[i][j] -= value * vector[i] * vector[j];
        }
      }
    }
    if (n > 0 && places[0][0] > 0) {
      for (double[] place : places) {
        place[0] = -place[0];
      }
    }
    return places;
  }

  private static void centre(double[][] b) {
    int n = b.length;
    double[] rows = new double[n];
    double all = 0;
    for (int i = 0; i < n; i++) {
      rows[i] = Arrays.stream(b[i]).sum() / n;
      all += rows[i] / n;
    }
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < n; j++) {
        b[i][j] += all - rows[i] - rows[j];
      }
    }
  }

  private static double[] leading(double[][] b) {
    int n = b.length;
    double[] vector = new double[n];
    for (int i = 0; i < n; i++) {
      vector[i] = Math.sin(i + 1);
    }
    for (int round = 0; round < 200; round++) {
      double[] next = times(b, vector);
      double length = Math.sqrt(dot(next, next));
      if (length < 1e-12) {
        return new double[n];
      }
      for (int i = 0; i < n; i++) {
        vector[i] = next[i] / length;
      }
    }
    return vector;
  }

  private static double value(double[][] b, double[] vector) {
    return dot(vector, times(b, vector));
  }

  private static double[] times(double[][] b, double[] vector) {
    return Arrays.stream(b).mapToDouble(row -> dot(row, vector)).toArray();
  }

  private static double dot(double[] a, double[] b) {
    double sum = 0;
    for (int i = 0; i < a.length; i++) {
      sum += a[i] * b[i];
    }
    return sum;
  }
}
